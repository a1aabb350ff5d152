import type { Draft } from "../domain/schedule/draft";

export type Wrong = (field: string) => string | undefined;

/** FieldProps are what each part of the form is given. */
export interface FieldProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  wrong: Wrong;
  project: string;
}
