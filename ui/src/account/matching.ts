import type { WorkflowOverview } from "../api/account";

/** matching keeps the workflows that have every word of the text in their name or description. */
export function matching(list: WorkflowOverview[], text: string): WorkflowOverview[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return list;
  return list.filter((w) => {
    const where = `${w.name} ${w.description}`.toLowerCase();
    return words.every((word) => where.includes(word));
  });
}
