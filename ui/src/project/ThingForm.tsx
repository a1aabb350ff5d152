import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { ApiError } from "../api/error";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";

export type Wrong = (...fields: string[]) => string | undefined;

interface Props {
  was: { name: string; description?: string } | undefined;
  nameField: string; // what the server calls the name where it is wrong
  described?: boolean; // whether it has a description
  save: (name: string, form: FormData) => Promise<unknown>;
  onDone: (name: string) => void;
  onClose: () => void;
  saveLabel?: string;
  children: (wrong: Wrong) => ReactNode;
}

/** Local is a refusal of the form's own, beside the field that it is about. */
export function local(field: string, message: string): ApiError {
  return new ApiError(422, message, undefined, [{ field, code: "local", message }]);
}

/** ThingForm is the form of something that has a name: its fields lie between its name and its description. */
export function ThingForm({ was, nameField, described = true, save, onDone, onClose, saveLabel, children }: Props) {
  const { t } = useSay();
  const act = useMutation({
    mutationFn: async (form: FormData) => {
      const name = was?.name ?? String(form.get("name")).trim();
      await save(name, form);
      return name;
    },
    onSuccess: onDone,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    act.mutate(new FormData(event.currentTarget));
  };
  const found = wrongFields(act.error, t);
  // A field may be wrong in one of its parts: days[2], variables.LANG, rate.per.
  const shown = new Set<string>();
  const wrong: Wrong = (...fields) => {
    const hits = Object.entries(found).filter(([name]) =>
      fields.some((f) => name === f || name.startsWith(`${f}[`) || name.startsWith(`${f}.`)),
    );
    for (const [name] of hits) shown.add(name);
    return hits.length === 0 ? undefined : hits.map(([, message]) => message).join(" ");
  };
  const fields = children(wrong);
  const name = wrong(nameField, "name");
  const rest = act.isError && (Object.keys(found).length === 0 || Object.keys(found).some((f) => !shown.has(f)));
  return (
    <form className="stack" onSubmit={submit}>
      {!was && <TextInput name="name" label={t("settings.name")} required maxLength={255} autoComplete="off" data-autofocus error={name} />}
      {fields}
      {described && (
        <TextInput
          name="description"
          label={t("settings.description")}
          defaultValue={was?.description}
          maxLength={4096}
          autoComplete="off"
        />
      )}
      {rest && <FormError error={act.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={act.isPending}>
          {saveLabel ?? t("settings.save")}
        </Button>
      </div>
    </form>
  );
}
