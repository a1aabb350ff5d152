/** TabProps is what a tab of settings is given: those of a project, or of all where there is none. */
export interface TabProps {
  project?: string;
  why: string | undefined; // why nothing may be changed
  search: { new?: "1"; edit?: string; delete?: string; open?: string };
  set: (part: { new?: "1"; edit?: string; delete?: string; open?: string }, replace?: boolean) => void;
}

/** ProjectTabProps is the same where there is always a project. */
export type ProjectTabProps = TabProps & { project: string };
