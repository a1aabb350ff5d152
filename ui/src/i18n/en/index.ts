// Every sentence of the console, by topic. A key names its topic first; zh-CN has the same ones: its types say so.
import { account } from "./account";
import { backfills } from "./backfills";
import { canvas } from "./canvas";
import { core } from "./core";
import { editor } from "./editor";
import { form } from "./form";
import { graph } from "./graph";
import { instances } from "./instances";
import { log } from "./log";
import { schedules } from "./schedules";
import { text } from "./text";
import { timers } from "./timers";
import { versions } from "./versions";

export const en = {
  ...core,
  ...log,
  ...instances,
  ...account,
  ...backfills,
  ...graph,
  ...editor,
  ...canvas,
  ...form,
  ...schedules,
  ...text,
  ...timers,
  ...versions,
} as const;

export type Key = keyof typeof en;
