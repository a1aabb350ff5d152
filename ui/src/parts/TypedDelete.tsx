import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api/client";
import { useSay } from "../i18n";
import { FormError } from "./FormError";
import { Modal } from "./layers";

interface Props {
  name: string | undefined; // what would go; the dialog is closed without
  about: string;
  remove: (name: string) => Promise<unknown>;
  onClose: () => void;
  onDone: (name: string) => void;
}

/** TypedDelete deletes what cannot be brought back, once its name was typed; it says what stands in the way. */
export function TypedDelete({ name, about, remove, onClose, onDone }: Props) {
  const { t } = useSay();
  return (
    <Modal opened={name !== undefined} onClose={onClose} title={t("account.projects.deleteTitle", { name: name ?? "" })} size="md">
      {name !== undefined && <Body name={name} about={about} remove={remove} onClose={onClose} onDone={onDone} />}
    </Modal>
  );
}

function Body({ name, about, remove, onClose, onDone }: Props & { name: string }) {
  const { t } = useSay();
  const [typed, setTyped] = useState("");
  const [told, setTold] = useState(false);
  const act = useMutation({ mutationFn: () => remove(name), onSuccess: () => onDone(name) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === name) act.mutate();
    else setTold(true);
  };
  const used = act.error instanceof ApiError ? act.error.fields.filter((f) => f.code === "in_use") : [];
  return (
    <form className="stack" onSubmit={submit}>
      <p>{about}</p>
      <TextInput
        label={t("account.projects.typeName", { name })}
        value={typed}
        onChange={(e) => setTyped(e.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        error={told && typed !== name ? t("account.err.typeName") : undefined}
      />
      {used.length > 0 ? (
        <div className="form-error" role="alert">
          <p>{t("account.projects.stillUsed")}</p>
          <ul>
            {used.map((f) => (
              <li key={f.message}>{f.message}</li>
            ))}
          </ul>
          <p>{t("account.projects.stillUsedHint")}</p>
        </div>
      ) : (
        <FormError error={act.error} />
      )}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={act.isPending}>
          {t("account.projects.delete")}
        </Button>
      </div>
    </form>
  );
}
