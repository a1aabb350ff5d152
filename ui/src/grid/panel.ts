import { piece } from "../parts/piece";

/** GridPanel is apart from its code: the route of a workflow has it loaded while the page's own code is on its way. */
export const GridPanel = piece(() => import("./GridPanel").then((m) => m.GridPanel));
