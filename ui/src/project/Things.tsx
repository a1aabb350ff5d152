import { type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { Modal } from "../parts/layers";
import { type RowAction, RowMenu } from "../parts/RowMenu";
import { TypedDelete } from "../parts/TypedDelete";
import { told } from "../parts/told";

export interface Column<T> {
  head: string;
  cell: (x: T) => ReactNode;
  className?: string;
}

interface Wish {
  new?: "1";
  edit?: string;
  delete?: string;
}

interface Props<T> {
  query: UseQueryResult<T[]>;
  columns: Column<T>[];
  about: string;
  empty: string;
  newLabel: string;
  deleteAsk: string;
  why: string | undefined; // why nothing may be changed
  /** fixed says why a single one may not be changed here. */
  fixed?: (x: T) => string | undefined;
  search: Wish;
  set: (part: Wish, replace?: boolean) => void;
  more?: (x: T) => RowAction[];
  editLabel?: string;
  remove: (name: string) => Promise<unknown>;
  /** form is the form of one that is there, or of a new one. */
  form: (was: T | undefined, done: (name: string) => void, close: () => void) => ReactNode;
}

/** Things lists what a project, or all of them, keep by name; each is made, changed and deleted in place. */
export function Things<T extends { name: string }>({ query, why, search, set, ...of }: Props<T>) {
  const { t } = useSay();
  const client = useQueryClient();
  const all = query.data ?? [];
  const close = () => set({ new: undefined, edit: undefined }, true);
  const reread = () => {
    void client.invalidateQueries({ queryKey: ["settings"] });
    void client.invalidateQueries({ queryKey: ["instances", "groups"] });
  };
  const done = (name: string) => {
    told(t("settings.saved", { name }));
    reread();
    close();
  };
  const may = (name: string | undefined) => all.find((x) => x.name === name && why === undefined && of.fixed?.(x) === undefined);
  const one = may(search.edit);
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={why} onClick={() => set({ new: "1" })}>
      {of.newLabel}
    </Guarded>
  );
  return (
    <>
      <div className="title-row">
        <p className="faint about">{of.about}</p>
        <span className="push">{create}</span>
      </div>
      {query.isError ? (
        <ErrorView error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending ? (
        <SkeletonRows />
      ) : all.length === 0 ? (
        <p className="empty">{of.empty}</p>
      ) : (
        <Table rows={all} why={why} set={set} {...of} />
      )}
      <Modal
        opened={one !== undefined || (search.new === "1" && why === undefined)}
        onClose={close}
        title={one ? t("settings.editTitle", { name: one.name }) : of.newLabel}
        // What was entered must not go by a click beside it.
        closeOnClickOutside={false}
        size="md"
      >
        {(one !== undefined || search.new === "1") && of.form(one, done, close)}
      </Modal>
      <TypedDelete
        name={may(search.delete)?.name}
        about={of.deleteAsk}
        remove={of.remove}
        onClose={() => set({ delete: undefined }, true)}
        onDone={(name) => {
          told(t("settings.deleted", { name }));
          reread();
          set({ delete: undefined }, true);
        }}
      />
    </>
  );
}

type TableProps<T> = Pick<Props<T>, "columns" | "fixed" | "more" | "editLabel" | "newLabel"> & {
  rows: T[];
  why: string | undefined;
  set: (part: Wish) => void;
};

function Table<T extends { name: string }>({ rows, columns, why, fixed, more, editLabel, newLabel, set }: TableProps<T>) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={newLabel}>
      <table className="plain things">
        <thead>
          <tr>
            <th>{t("settings.name")}</th>
            {columns.map((c) => (
              <th key={c.head} className={c.className}>
                {c.head}
              </th>
            ))}
            <th aria-label={t("common.more")} />
          </tr>
        </thead>
        <tbody>
          {rows.map((x) => {
            const refused = why ?? fixed?.(x);
            return (
              <tr key={x.name} data-thing={x.name}>
                <td>{x.name}</td>
                {columns.map((c) => (
                  <td key={c.head} className={c.className}>
                    {c.cell(x)}
                  </td>
                ))}
                <td className="end">
                  <RowMenu
                    label={t("settings.actions", { name: x.name })}
                    actions={[
                      ...(more?.(x) ?? []),
                      { label: editLabel ?? t("settings.edit"), run: () => set({ edit: x.name }), why: refused },
                      { label: t("settings.delete"), run: () => set({ delete: x.name }), why: refused },
                    ]}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
