import type { compare as en } from "../en/compare";

export const compare: Record<keyof typeof en, string> = {
  "compare.output": "输出",
  "compare.find": "首个差异",
  "compare.findOf": "{{task}} 输出的首个差异",
  "compare.loose": "忽略数字差异",
  "compare.same_one": "输出相同：共 {{count}} 行。",
  "compare.same_other": "输出相同：共 {{count}} 行。",
  "compare.bothEmpty": "两者都没有输出。",
  "compare.bound_one": "前 {{count}} 行相同；超过 {{size}} 的部分未比较。",
  "compare.bound_other": "前 {{count}} 行相同；超过 {{size}} 的部分未比较。",
  "compare.differs": "从第 {{n}} 行开始不同：",
  "compare.ended": "在此行之前已结束",
  "compare.chosen": "对比这两个",
  "artifacts.title_one": "留下 {{count}} 个文件",
  "artifacts.title_other": "留下 {{count}} 个文件",
  "artifacts.name": "文件",
  "artifacts.size": "大小",
};
