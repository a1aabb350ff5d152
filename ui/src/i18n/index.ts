import i18next from "i18next";
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

/**
 * sayer says the sentences of a language: by their count, which Chinese does not tell apart, and with values in their holes. One
 * without values is looked up once: a screen of a graph says the same few words a hundred times.
 */
export function sayer(sentences: Readonly<Record<string, string>>, language: Language): Say {
  const library = i18next.createInstance();
  void library.init({
    lng: language,
    initAsync: false,
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React escapes
    resources: { [language]: { translation: sentences } },
  });
  const fixed = library.getFixedT(language);
  const plain = new Map<Sentence, string>();
  return (key, values) => {
    if (values) return fixed(key, values);
    let said = plain.get(key);
    if (said === undefined) {
      said = fixed(key);
      plain.set(key, said);
    }
    return said;
  };
}

let voice: Voice = { t: (key) => key, locale: "en" };
const watchers = new Set<() => void>();

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/**
 * useSay gives the translator; a key that no language has does not compile. It is one object for all the
 * page: hundreds of nodes ask for it, and a library's hook makes each of them one of its own.
 */
export function useSay(): Voice {
  return useSyncExternalStore(watch, spoken);
}

const spoken = () => voice;

/** word translates a code of the server by its prefix, and shows the raw code where none is known. */
export function word(t: Say, prefix: "state" | "reason" | "event", code: string): string {
  const key = `${prefix}.${code}`;
  return key in en ? t(key as Key) : code; // checked one word before
}
