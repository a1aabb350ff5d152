import { type Raw, text } from "./search";

export interface ApprovalsSearch {
  open?: string; // instance/task
}

export function approvalsSearch(raw: Raw): ApprovalsSearch {
  return { open: text(raw, "open", 540) };
}
