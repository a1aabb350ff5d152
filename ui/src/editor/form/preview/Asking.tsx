import { SegmentedControl, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { FieldError } from "../../../api/client";
import { instancesQuery } from "../../../api/queries";
import { isFields } from "../../../domain/document/read";
import { millis, moment, offsetOf } from "../../../domain/format";
import { useSay, word } from "../../../i18n";
import { useSettings } from "../../../settings";
import { useDoc } from "../../context";
import { shown } from "../values";
import type { Ask } from "./ask";
import { fromWall, toWall } from "./wall";

interface Props {
  ask: Ask;
  change: (part: Partial<Ask>) => void;
  project: string;
  workflow: string;
  /** wrong is what the server says of the values that are given. */
  wrong: readonly FieldError[];
}

/** Asking chooses for what the parameters are worked out, and what a start would give. */
export function Asking({ ask, change, project, workflow, wrong }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const params = useDoc((s) => s.reading.model.params);
  const at = fromWall(ask.at, zone) ?? Date.now();
  const names = Object.keys(params);
  return (
    <div className="preview-ask">
      <SegmentedControl
        fullWidth
        aria-label={t("form.preview.for")}
        value={ask.of}
        data={[
          { value: "time", label: t("form.preview.time") },
          { value: "instance", label: t("form.preview.instance") },
        ]}
        onChange={(of) => change({ of: of === "instance" ? "instance" : "time" })}
      />
      {ask.of === "instance" ? (
        <Past ask={ask} change={change} project={project} workflow={workflow} wrong={wrong} />
      ) : (
        <div className="fr wide">
          <span className="fr-label">
            <label htmlFor="preview-at">{t("form.preview.at")}</label>
          </span>
          <div className="fr-control preview-at">
            <input
              id="preview-at"
              className="fi"
              type="datetime-local"
              step={1}
              value={ask.at === "" ? "" : toWall(at, zone)}
              onChange={(event) => change({ at: event.target.value })}
            />
            <span className="faint num">{ask.at === "" ? t("form.preview.now") : offsetOf(zone, at)}</span>
          </div>
        </div>
      )}
      {names.length > 0 && (
        <details className="preview-start" open={Object.keys(ask.params).length > 0 || undefined}>
          <summary>{t("form.preview.start", { count: Object.keys(ask.params).length })}</summary>
          {names.map((name) => {
            const one = params[name];
            const bad = wrong.find((f) => f.field === `params.${name}`)?.message;
            const standard = shown(isFields(one) ? one.default : one);
            return (
              <div className="fr" key={name}>
                <span className="fr-label mono">
                  <label htmlFor={`preview-p-${name}`}>{name}</label>
                </span>
                <div className="fr-control">
                  <input
                    id={`preview-p-${name}`}
                    className="fi mono"
                    value={ask.params[name] ?? ""}
                    placeholder={standard === "" ? t("form.params.asked") : standard}
                    aria-invalid={bad !== undefined || undefined}
                    aria-describedby={bad === undefined ? undefined : `preview-e-${name}`}
                    autoComplete="off"
                    spellCheck={false}
                    onChange={(event) => {
                      const { [name]: _, ...rest } = ask.params;
                      change({ params: event.target.value === "" ? rest : { ...rest, [name]: event.target.value } });
                    }}
                  />
                  {bad !== undefined && (
                    <p className="fr-error" id={`preview-e-${name}`}>
                      {bad}
                    </p>
                  )}
                </div>
              </div>
            );
          })}
        </details>
      )}
    </div>
  );
}

/** lastInstances is how many past instances are offered. */
const lastInstances = 20;

function Past({ ask, change, project, workflow }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const list = useInfiniteQuery(instancesQuery({ project, workflow }, lastInstances));
  const items = list.data?.pages[0]?.items ?? [];
  const label = (i: (typeof items)[number]) =>
    `${moment(millis(i.schedule_time ?? i.created_at) ?? 0, zone)}, ${word(t, "state", i.state)}`;
  return (
    <div className="fr">
      <span className="fr-label">
        <label htmlFor="preview-instance">{t("runs.id")}</label>
      </span>
      <div className="fr-control">
        <Select
          id="preview-instance"
          data={items.map((i) => ({ value: i.id, label: label(i) }))}
          value={ask.instance?.id ?? null}
          placeholder={items.length === 0 && list.isSuccess ? t("form.preview.never") : t("form.preview.choose")}
          onChange={(id) => change({ instance: items.find((i) => i.id === id) })}
        />
      </div>
    </div>
  );
}
