import type { Key } from "../en";
import { account } from "./account";
import { canvas } from "./canvas";
import { core } from "./core";
import { editor } from "./editor";
import { form } from "./form";
import { graph } from "./graph";
import { instances } from "./instances";
import { log } from "./log";
import { schedules } from "./schedules";
import { text } from "./text";
import { versions } from "./versions";

export const zhCN: Record<Key, string> = {
  ...core,
  ...log,
  ...instances,
  ...account,
  ...graph,
  ...editor,
  ...canvas,
  ...form,
  ...schedules,
  ...text,
  ...versions,
};
