// The canvas that shows a graph.
export const graph = {
  "graph.far_one": "{{count}} task, too small to read: the list of tasks names it",
  "graph.far_other": "{{count}} tasks, too small to read: the list of tasks names them",
  "graph.attempt": "attempt {{n}} of {{of}}",
  "graph.keys": "Arrow keys follow the edges and go to siblings; Enter opens the task.",
  "graph.zoomIn": "Zoom in",
  "graph.zoomOut": "Zoom out",
  "graph.turnDown": "Draw from top to bottom",
  "graph.turnRight": "Draw from left to right",
  "graph.follow": "Follow running",
  "graph.find": "Find a task",
  "graph.findKey": "Find a task (Ctrl+F)",
  "graph.findAt": "{{n}} of {{of}}",
  "graph.findNone": "no such task",
  "graph.inBranch": "in the branch of {{task}}: {{branch}}",
  "graph.last": "comes last: it starts once all others have ended",
  "graph.findClose": "Close the search",
} as const;
