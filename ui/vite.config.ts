import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { ahead } from "./scripts/ahead";

// The base is relative: the server writes the real one into the index's <base> tag.
export default defineConfig({
  base: "./",
  plugins: [react(), ahead(["TodayPage", "InstancesPage", "InstancePage", "WorkflowPage", "GridPanel", "EditorPage", "SchedulePage"])],
  build: { outDir: "dist/app", emptyOutDir: true, target: "es2022", sourcemap: false, modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // What every page needs is one file, and so is what three of them do: forty small ones are forty requests, over six
        // connections. Of the library only what is small: the rest comes with who uses it.
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"] },
            {
              name: "common",
              minShareCount: 3,
              test: /lucide-react|src\/(parts|api|live|domain\/(?!document))|@mantine\/core\/.*\/(Tooltip|Menu|Tabs|Progress)\//,
            },
          ],
        },
        // What the viewer and the editor draw with is one file of a known name: the budget counts it with both.
        chunkFileNames: ({ moduleIds, name }) =>
          name !== "EditorPage" && moduleIds.some((id) => id.includes("/@xyflow/")) ? "assets/Graph-[hash].js" : "assets/[name]-[hash].js",
      },
    },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:8080", "/sign-in": "http://127.0.0.1:8080" } },
});
