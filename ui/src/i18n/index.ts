import { useSyncExternalStore } from "react";
import { en, type Key } from "./en";

export type Language = "en" | "zh-CN";
export const languages: { value: Language; label: string }[] = [
  { value: "en", label: "English" },
  { value: "zh-CN", label: "简体中文" },
];

/** speak makes a language the page's; Chinese is loaded only where it is wanted. */
export async function speak(language: Language): Promise<void> {
  const sentences = language === "en" ? en : (await import("./zh-CN")).zhCN;
  document.documentElement.lang = language;
  voice = { t: sayer(sentences, language), locale: language };
  for (const changed of watchers) changed();
}

/** spokenLanguage is the page's, or English before it has one. */
export const spokenLanguage = (): Language => voice.locale;

type Plural<K> = K extends `${infer Stem}_other` ? Stem : never;
export type Sentence = Key | Plural<Key>;
export type Say = (key: Sentence, values?: Record<string, string | number>) => string;

/** Voice is the translator of one language; another language is another object. */
interface Voice {
  t: Say;
  locale: Language;
}

/** sayer says the sentences of a language: by their count, which Chinese does not tell apart, and with values in their holes. */
export function sayer(sentences: Readonly<Record<string, string>>, language: Language): Say {
  return (key, values) => {
    if (!values) return sentences[key] ?? key;
    const one = values.count === 1 && language === "en";
    const counted = typeof values.count === "number" ? sentences[`${key}_${one ? "one" : "other"}`] : undefined;
    const text = counted ?? sentences[key] ?? key;
    return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name] ?? ""));
  };
}

let voice: Voice = { t: (key) => key, locale: "en" };
const watchers = new Set<() => void>();

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** useSay gives the translator; a key that no language has does not compile. It is one object for all the page. */
export function useSay(): Voice {
  return useSyncExternalStore(watch, spoken);
}

const spoken = () => voice;

/** word translates a code of the server by its prefix, and shows the raw code where none is known. */
export function word(t: Say, prefix: "state" | "reason" | "event", code: string): string {
  const key = `${prefix}.${code}`;
  return key in en ? t(key as Key) : code; // checked one word before
}
