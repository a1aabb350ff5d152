import type { Key } from "../en";
import { about } from "./about";
import { account } from "./account";
import { approvals } from "./approvals";
import { backfills } from "./backfills";
import { canvas } from "./canvas";
import { cluster } from "./cluster";
import { codes } from "./codes";
import { compare } from "./compare";
import { core } from "./core";
import { editor } from "./editor";
import { form } from "./form";
import { graph } from "./graph";
import { grid } from "./grid";
import { instances } from "./instances";
import { log } from "./log";
import { manage } from "./manage";
import { operate } from "./operate";
import { pages } from "./pages";
import { schedules } from "./schedules";
import { special } from "./special";
import { text } from "./text";
import { timers } from "./timers";
import { trial } from "./trial";
import { versions } from "./versions";

export const zhCN: Record<Key, string> = {
  ...core,
  ...codes,
  ...compare,
  ...cluster,
  ...log,
  ...instances,
  ...account,
  ...about,
  ...approvals,
  ...backfills,
  ...graph,
  ...grid,
  ...editor,
  ...canvas,
  ...form,
  ...manage,
  ...operate,
  ...pages,
  ...schedules,
  ...special,
  ...text,
  ...timers,
  ...trial,
  ...versions,
};
