import { ActionIcon, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ChartColumn, Table2 } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { histogramQuery, type Scope } from "../../api/instances";
import { moment, roundDuration, shortMoment } from "../../domain/format";
import { lookOf } from "../../domain/states";
import { useSay, word } from "../../i18n";
import { useNow } from "../../live/clock";
import { ErrorView } from "../../parts/ErrorView";
import { StateIcon } from "../../parts/StateIcon";
import { useSettings } from "../../settings";
import { type Bars, bars, brushed } from "./bars";

interface Props {
  scope: Scope;
  state: string | undefined;
  onWindow: (w: { from: string; to: string }) => void;
}

/** Histogram shows when instances were created, by state. A drag over it chooses a time; its table does the same by keys. */
export function Histogram({ scope, state, onWindow }: Props) {
  const { t } = useSay();
  const [asTable, setAsTable] = useState(false);
  const read = useQuery(histogramQuery({ ...scope, state }));
  const b = useMemo(() => (read.data ? bars(read.data) : undefined), [read.data]);
  if (read.isError) return <ErrorView error={read.error} retry={() => void read.refetch()} />;
  return (
    <section className="histogram" aria-label={t("instances.histogram")}>
      {b && b.columns.length > 0 ? (
        asTable ? (
          <Table b={b} onWindow={onWindow} />
        ) : (
          <Chart b={b} onWindow={onWindow} />
        )
      ) : (
        <div className="histogram-none" />
      )}
      <Tooltip label={asTable ? t("instances.asChart") : t("instances.asTable")}>
        <ActionIcon size={24} aria-pressed={asTable} aria-label={t("instances.asTable")} onClick={() => setAsTable(!asTable)}>
          {asTable ? <ChartColumn size={14} /> : <Table2 size={14} />}
        </ActionIcon>
      </Tooltip>
    </section>
  );
}

function Chart({ b, onWindow }: { b: Bars; onWindow: Props["onWindow"] }) {
  const { t } = useSay();
  const { zone } = useSettings();
  const now = useNow(false);
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<[number, number]>();
  const place = (x: number) => {
    const r = box.current?.getBoundingClientRect();
    return r && r.width > 0 ? Math.min(1, Math.max(0, (x - r.left) / r.width)) : 0;
  };
  const span = b.to - b.from;
  const left = (at: number) => ((at - b.from) / span) * 100;
  const end = () => {
    if (drag) onWindow(brushed(b, drag[0], drag[1]));
    setDrag(undefined);
  };
  return (
    <div className="histogram-chart">
      <div
        ref={box}
        className="histogram-bars"
        role="img"
        aria-label={t("instances.histogramLabel", { most: b.most, width: roundDuration(b.width) })}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          e.currentTarget.setPointerCapture(e.pointerId);
          setDrag([place(e.clientX), place(e.clientX)]);
        }}
        onPointerMove={(e) => drag && setDrag([drag[0], place(e.clientX)])}
        onPointerUp={end}
        onPointerCancel={() => setDrag(undefined)}
      >
        {b.columns.map((c) => (
          <span
            key={c.at}
            className="histogram-bar"
            title={`${moment(c.at, zone)}: ${c.parts.map((p) => `${word(t, "state", p.state)} ${p.to - p.from}`).join(", ")}`}
            style={{ left: `${left(c.at)}%`, width: `max(2px, calc(${(b.width / span) * 100}% - 1px))` }}
          >
            {c.parts.map((p) => (
              <i
                key={p.state}
                className={`hue-${lookOf(p.state).hue}`}
                style={{ bottom: `${(p.from / b.most) * 100}%`, height: `max(2px, ${((p.to - p.from) / b.most) * 100}%)` }}
              />
            ))}
          </span>
        ))}
        {drag && <span className="brush" style={{ left: `${Math.min(...drag) * 100}%`, width: `${Math.abs(drag[1] - drag[0]) * 100}%` }} />}
      </div>
      <div className="histogram-axis num faint">
        <span>{shortMoment(b.from, now, zone)}</span>
        <span>{t("instances.bucket", { width: roundDuration(b.width), most: b.most })}</span>
        <span>{shortMoment(Math.min(b.to, now), now, zone)}</span>
      </div>
    </div>
  );
}

function Table({ b, onWindow }: { b: Bars; onWindow: Props["onWindow"] }) {
  const { t } = useSay();
  const { zone } = useSettings();
  return (
    <div className="histogram-table" tabIndex={0} role="region" aria-label={t("instances.histogram")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("runs.created")}</th>
            <th>{t("runs.state")}</th>
          </tr>
        </thead>
        <tbody>
          {b.columns.map((c) => (
            <tr key={c.at}>
              <td>
                <button
                  type="button"
                  className="link num"
                  onClick={() => onWindow({ from: new Date(c.at).toISOString(), to: new Date(c.at + b.width).toISOString() })}
                >
                  {moment(c.at, zone)}
                </button>
              </td>
              <td>
                {c.parts.map((p) => (
                  <span key={p.state} className="count-pair">
                    <StateIcon state={p.state} size={14} /> {word(t, "state", p.state)} <b className="num">{p.to - p.from}</b>
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
