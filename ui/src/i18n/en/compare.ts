// Two instances side by side, and the files of an attempt.
export const compare = {
  "compare.output": "Output",
  "compare.find": "First difference",
  "compare.findOf": "First difference in the output of {{task}}",
  "compare.loose": "Numbers count as alike",
  "compare.same_one": "The outputs are alike: {{count}} line.",
  "compare.same_other": "The outputs are alike: {{count}} lines.",
  "compare.bothEmpty": "Neither has printed anything.",
  "compare.bound_one": "The first {{count}} line is alike; behind {{size}} nothing was compared.",
  "compare.bound_other": "The first {{count}} lines are alike; behind {{size}} nothing was compared.",
  "compare.differs": "They part at line {{n}}:",
  "compare.ended": "ended before this line",
  "compare.chosen": "Compare the two",
  "artifacts.title_one": "{{count}} file left",
  "artifacts.title_other": "{{count}} files left",
  "artifacts.name": "File",
  "artifacts.size": "Size",
} as const;
