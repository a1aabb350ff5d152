import { ActionIcon, TextInput, Tooltip } from "@mantine/core";
import { CaseSensitive, ChevronDown, ChevronUp, Regex, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/error";
import { type Sentence, useSay } from "../i18n";
import { broken, type FindState, type Wish } from "./finder";

interface Props {
  find: FindState;
  field: RefObject<HTMLInputElement | null>;
  onWish: (part: Partial<Wish>) => void;
  onNext: () => void;
  onPrevious: () => void;
  onLine: (line: number) => void;
  onClose: () => void;
}

/** Between the last letter and the search. */
const pause = 250;
const lineNumber = /^:\s*([1-9]\d{0,14})$/;

/** FindBar searches the whole log, on the server; ":123" goes to a line. */
export function FindBar({ find, field, onWish, onNext, onPrevious, onLine, onClose }: Props) {
  const { t } = useSay();
  const [text, setText] = useState(find.wish.text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    if (!next.startsWith(":")) timer.current = setTimeout(() => onWish({ text: next }), pause);
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const line = lineNumber.exec(text);
    if (line) onLine(Number(line[1]));
    else if (text !== find.wish.text) {
      clearTimeout(timer.current);
      onWish({ text });
    } else onNext();
  };
  const press = (e: KeyboardEvent) => {
    if (e.key === "Enter" && e.shiftKey) {
      e.preventDefault();
      onPrevious();
    } else if (e.key === "Escape") {
      e.preventDefault();
      onClose();
    }
  };
  const { wish } = find;
  const unfinished = broken(wish);
  return (
    <search className="log-find">
      <form onSubmit={submit}>
        <TextInput
          ref={field}
          className="log-find-text"
          aria-label={t("log.find")}
          placeholder={t("log.findHint")}
          value={text}
          maxLength={1000}
          onChange={(e) => look(e.currentTarget.value)}
          onKeyDown={press}
          spellCheck={false}
          autoComplete="off"
          data-autofocus
        />
        <Status find={find} />
        <Tool word="log.findPrevious" onClick={onPrevious} disabled={find.total === 0}>
          <ChevronUp size={16} />
        </Tool>
        <Tool word="log.findNext" onClick={onNext} disabled={find.total === 0}>
          <ChevronDown size={16} />
        </Tool>
        <Tool word="log.findCase" pressed={wish.case} onClick={() => onWish({ case: !wish.case })}>
          <CaseSensitive size={16} />
        </Tool>
        <Tool word="log.findRegex" pressed={wish.regex} onClick={() => onWish({ regex: !wish.regex })}>
          <Regex size={16} />
        </Tool>
        <Tool word="log.findClose" onClick={onClose}>
          <X size={16} />
        </Tool>
      </form>
      {unfinished && (
        <p className="log-find-error" role="status">
          {t(`log.broken.${unfinished}`)}
        </p>
      )}
      {find.error !== undefined && (
        <p className="log-find-error" role="alert">
          {find.error instanceof ApiError ? find.error.message.replace(/^q: /, "") : String(find.error)}
        </p>
      )}
    </search>
  );
}

function Status({ find }: { find: FindState }) {
  const { t, locale } = useSay();
  const said = () => {
    if (find.wish.text === "" || find.error !== undefined) return "";
    if (find.busy) return t("log.findBusy");
    const at = find.hits[find.at]?.number;
    if (at === undefined) return find.done ? t(find.whole ? "log.findNone" : "log.findNoneYet") : "";
    return t(find.whole ? "log.findAt" : "log.findAtLeast", { at: at.toLocaleString(locale), total: find.total.toLocaleString(locale) });
  };
  return (
    <output className="log-find-status" title={t(find.whole ? "log.findTitle" : "log.findCut")}>
      {said()}
    </output>
  );
}

interface ToolProps {
  word: Sentence;
  pressed?: boolean;
  disabled?: boolean;
  onClick: () => void;
  children: React.ReactNode;
}

/** Tool is a button of the panel that is a picture: its word is told and shown on a rest. */
export function Tool({ word, pressed, disabled, onClick, children }: ToolProps) {
  const { t } = useSay();
  return (
    <Tooltip label={t(word)}>
      <ActionIcon aria-label={t(word)} aria-pressed={pressed} data-pressed={pressed || undefined} disabled={disabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
