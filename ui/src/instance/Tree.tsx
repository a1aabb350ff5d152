import { useMemo } from "react";

/** maxNodes bounds what one level of a tree draws; the count says how much there is. */
const maxNodes = 200;

function read(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tree shows a value that is JSON as what it is; everything else as it stands. */
export function Tree({ text }: { text: string }) {
  const value = useMemo(() => read(text), [text]);
  return value === undefined ? text : <Node name="" value={value} open />;
}

function Node({ name, value, open = false }: { name: string; value: unknown; open?: boolean }) {
  if (typeof value !== "object" || value === null) {
    return (
      <span className="tree-leaf">
        {name && <b>{name}: </b>}
        {JSON.stringify(value)}
      </span>
    );
  }
  const entries = Object.entries(value);
  return (
    <details className="tree" open={open}>
      <summary>
        {name && <b>{name} </b>}
        <span className="faint">{Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      <ul>
        {entries.slice(0, maxNodes).map(([k, v]) => (
          <li key={k}>
            <Node name={k} value={v} />
          </li>
        ))}
        {entries.length > maxNodes && <li>… {entries.length - maxNodes}</li>}
      </ul>
    </details>
  );
}
