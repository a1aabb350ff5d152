import { setField } from "../domain/document/edit";
import { read } from "../domain/document/read";
import { applySplices } from "../domain/document/text";

/** renamed gives the text of a definition with another name in it, all else as it stands; undefined where the text cannot be read. */
export function renamed(text: string, name: string): string | undefined {
  const edit = setField(read(text), ["name"], name);
  return edit.ok ? applySplices(text, edit.splices) : undefined;
}
