import { read } from "../domain/document/read";
import { type Rules, rulesOf } from "../domain/graph/rules";
import { inPlaceMax, workerReader } from "../editor/reader";

// A key that a rule stands under, in YAML as in JSON. Where there is none, a long text is not read for nothing.
const ruled = /\b(when|join|finally|cases|else)["']?\s*:/;

/** readRules reads the rules of a text's tasks, or null where it has none; a long text is read beside the page. */
export async function readRules(text: string): Promise<Rules | null> {
  if (!ruled.test(text)) return null;
  if (text.length <= inPlaceMax) return rulesOf(read(text).model.tasks);
  const reader = workerReader();
  try {
    return rulesOf((await reader.read(text)).model.tasks);
  } finally {
    reader.close();
  }
}
