import { Download } from "lucide-react";
import { apiBase } from "../api/client";
import type { components } from "../api/schema";
import { bytes } from "../domain/format";
import { useSay } from "../i18n";
import { CopyButton } from "../parts/CopyButton";

type Artifact = components["schemas"]["Artifact"];

interface Props {
  id: string;
  task: string;
  attempt: number;
  files: Artifact[];
}

/** shaShown is how much of a hash is enough to tell two files apart by eye. */
const shaShown = 12;

/** Artifacts are the files that an attempt has left. */
export function Artifacts({ id, task, attempt, files }: Props) {
  const { t } = useSay();
  const base = `${apiBase}/instances/${id}/tasks/${encodeURIComponent(task)}/attempts/${attempt}/artifacts`;
  return (
    <table className="plain artifacts">
      <caption>{t("artifacts.title", { count: files.length })}</caption>
      <thead>
        <tr>
          <th>{t("artifacts.name")}</th>
          <th className="end">{t("artifacts.size")}</th>
          <th>SHA-256</th>
        </tr>
      </thead>
      <tbody>
        {files.map((f) => (
          <tr key={f.name}>
            <td className="mono value">
              <a href={`${base}/${encodeURIComponent(f.name)}`} download={f.name.split("/").at(-1)}>
                <Download size={13} aria-hidden="true" /> {f.name}
              </a>
            </td>
            <td className="num end">{bytes(f.size)}</td>
            <td>
              <span className="sha">
                <code title={f.sha256}>{f.sha256.slice(0, shaShown)}…</code>
                <CopyButton value={f.sha256} />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
