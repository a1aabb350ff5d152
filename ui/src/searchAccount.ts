import { oneOf, type Raw, text } from "./search";

// What the pages of people, projects and workflow lists keep in their addresses.

const flag = ["1"] as const;

export interface ProjectsSearch {
  new?: "1"; // the dialog for a new one is open
  edit?: string; // the project whose description is edited
  delete?: string;
}

export function projectsSearch(raw: Raw): ProjectsSearch {
  return { new: oneOf(raw, "new", flag), edit: text(raw, "edit"), delete: text(raw, "delete") };
}

export interface MembersSearch {
  add?: "1";
  remove?: string; // the user who would go
}

export function membersSearch(raw: Raw): MembersSearch {
  return { add: oneOf(raw, "add", flag), remove: text(raw, "remove") };
}

export interface WorkflowsSearch {
  q?: string; // what the list is filtered by
  new?: "1";
  import?: "1"; // the dialog that brings workflows along
  copy?: string;
  delete?: string;
}

export function workflowsSearch(raw: Raw): WorkflowsSearch {
  return {
    q: text(raw, "q"),
    new: oneOf(raw, "new", flag),
    import: oneOf(raw, "import", flag),
    copy: text(raw, "copy"),
    delete: text(raw, "delete"),
  };
}

export const profileTabs = ["account", "sessions", "tokens", "preferences"] as const;
export type ProfileTab = (typeof profileTabs)[number];

export interface ProfileSearch {
  tab?: ProfileTab;
  new?: "1"; // a token is being made
  revoke?: string; // the token's id
}

export function profileSearch(raw: Raw): ProfileSearch {
  return { tab: oneOf(raw, "tab", profileTabs), new: oneOf(raw, "new", flag), revoke: text(raw, "revoke", 20) };
}
