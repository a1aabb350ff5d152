import { Button, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Instance } from "../api/client";
import { acknowledge, unacknowledge } from "../api/commands";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Guarded } from "../parts/Guarded";
import { Modal } from "../parts/layers";
import { told } from "../parts/told";
import { useWhyNot } from "../shell/me";

function useAgain(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all([client.invalidateQueries({ queryKey: ["instances"] }), client.invalidateQueries({ queryKey: ["instance"] })]);
  };
}

/** useUnacknowledge takes an acknowledgement back; what it undoes can be done again, so nobody is asked. */
export function useUnacknowledge() {
  const { t } = useSay();
  const again = useAgain();
  return useMutation({
    mutationFn: unacknowledge,
    onSuccess: (_, i) => told(t("today.unacknowledged", { workflow: i.workflow, id: i.id })),
    onError: (error) => told(error.message),
    onSettled: again,
  });
}

/** Acknowledging is the button of one failure: seen, or not seen after all. */
export function Acknowledging({ instance }: { instance: Instance }) {
  const { t } = useSay();
  const why = useWhyNot(instance.project)("operator");
  const [asked, ask] = useState(false);
  const takeBack = useUnacknowledge();
  return (
    <>
      <Guarded variant="default" why={why} onClick={() => (instance.acknowledged ? takeBack.mutate(instance) : ask(true))}>
        {t(instance.acknowledged ? "today.unacknowledge" : "today.acknowledge")}
      </Guarded>
      <AcknowledgeDialog instance={asked ? instance : undefined} onClose={() => ask(false)} />
    </>
  );
}

/** AcknowledgeDialog says what an acknowledgement does, and takes a note along. */
export function AcknowledgeDialog({ instance, onClose }: { instance: Instance | undefined; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal
      opened={instance !== undefined}
      onClose={onClose}
      title={instance && t("today.acknowledgeTitle", { workflow: instance.workflow, id: instance.id })}
    >
      {instance && <Body instance={instance} onClose={onClose} />}
    </Modal>
  );
}

function Body({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const { t } = useSay();
  const again = useAgain();
  const send = useMutation({
    mutationFn: (note: string) => acknowledge(instance, note),
    onSuccess: async () => {
      told(t("today.acknowledged", { workflow: instance.workflow, id: instance.id }));
      onClose();
      await again();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    send.mutate(String(new FormData(event.currentTarget).get("note")).trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("today.acknowledgeAbout")}</p>
      <Textarea
        name="note"
        label={t("today.note")}
        description={t("today.noteHint")}
        maxLength={1000}
        autosize
        minRows={2}
        data-autofocus
      />
      <FormError error={send.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={send.isPending}>
          {t("today.acknowledge")}
        </Button>
      </div>
    </form>
  );
}
