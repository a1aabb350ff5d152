import i18next from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import { en, type Key } from "./en";

export type Language = "en" | "zh-CN";
export const languages: { value: Language; label: string }[] = [
  { value: "en", label: "English" },
  { value: "zh-CN", label: "简体中文" },
];

/** begin makes the sentences ready; Chinese is loaded only where it is wanted. */
export async function begin(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: "en",
    fallbackLng: "en",
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React escapes
    resources: { en: { translation: en } },
  });
  await speak(language);
}

export async function speak(language: Language): Promise<void> {
  if (language === "zh-CN" && !i18next.hasResourceBundle("zh-CN", "translation")) {
    const { zhCN } = await import("./zh-CN");
    i18next.addResourceBundle("zh-CN", "translation", zhCN);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

type Plural<K> = K extends `${infer Stem}_other` ? Stem : never;
export type Sentence = Key | Plural<Key>;
export type Say = (key: Sentence, values?: Record<string, string | number>) => string;

/** useSay gives the translator; a key that no language has does not compile. */
export function useSay(): { t: Say; locale: string } {
  const { t, i18n } = useTranslation();
  return { t: t as Say, locale: i18n.language }; // the library's own type knows no keys
}

/** word translates a code of the server by its prefix, and shows the raw code where none is known. */
export function word(t: Say, prefix: "state" | "reason", code: string): string {
  const key = `${prefix}.${code}`;
  return key in en ? t(key as Key) : code; // checked one word before
}
