import type { Plugin } from "vite";

/**
 * ahead writes into the index which files each page is made of beside the shell's, for public/ahead.js: a page's
 * own files are then on their way with the shell, and not only after it has run.
 */
export function ahead(pages: readonly string[]): Plugin {
  return {
    name: "porpoise-ahead",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((f) => f.type === "chunk");
        const named = new Map(chunks.map((c) => [c.fileName, c]));
        const lines = pages.map((page) => {
          const first = chunks.find((c) => c.name === page);
          if (!first) throw new Error(`the build has no page ${page}`);
          const files = new Set([first.fileName]);
          for (const file of files) for (const next of named.get(file)?.imports ?? []) if (!html.includes(`/${next}"`)) files.add(next);
          const styles = [...files].flatMap((f) => [...(named.get(f)?.viteMetadata?.importedCss ?? [])]);
          return `<meta name="ahead" data-page="${page}" content="${[...files, ...styles].join(" ")}">`;
        });
        const reader = '<script src="./ahead.js">';
        if (!html.includes(reader)) throw new Error(`the index has no ${reader}`);
        return html.replace(reader, `${lines.join("\n")}\n${reader}`);
      },
    },
  };
}
