import { SegmentedControl } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import { type Language, languages, speak, useSay } from "../i18n";
import { change, useSettings } from "../settings";
import { Mark } from "./Mark";
import "./entrance.css";

interface Props {
  title: string;
  onSubmit: (form: FormData) => void;
  children: ReactNode;
}

/** Entrance is the frame of what stands before the console: signing in, the set-up, a first password. */
export function Entrance({ title, onSubmit, children }: Props) {
  const { t } = useSay();
  const { language } = useSettings();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <main className="sign-in">
      <div className="entrance">
        <form onSubmit={submit}>
          <Mark size={36} />
          <h1>{title}</h1>
          {children}
        </form>
        <SegmentedControl
          aria-label={t("top.language")}
          data={languages}
          value={language}
          onChange={(v) => {
            const chosen: Language = v === "zh-CN" ? "zh-CN" : "en";
            change({ language: chosen });
            void speak(chosen);
          }}
        />
      </div>
    </main>
  );
}
