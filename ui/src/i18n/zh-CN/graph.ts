import type { graph as en } from "../en/graph";

export const graph: Record<keyof typeof en, string> = {
  "graph.far_one": "{{count}} 个任务，太小无法辨认：任务列表中有其名称",
  "graph.far_other": "{{count}} 个任务，太小无法辨认：任务列表中有其名称",
  "graph.attempt": "第 {{n}} 次，共 {{of}} 次",
  "graph.keys": "方向键沿连线移动或到同级任务；回车打开任务。",
  "graph.zoomIn": "放大",
  "graph.zoomOut": "缩小",
  "graph.turnDown": "改为从上到下",
  "graph.turnRight": "改为从左到右",
  "graph.follow": "跟随运行中",
  "graph.find": "查找任务",
  "graph.findKey": "查找任务（Ctrl+F）",
  "graph.findAt": "{{n}} / {{of}}",
  "graph.findNone": "没有这个任务",
  "graph.inBranch": "在 {{task}} 的分支中：{{branch}}",
  "graph.last": "最后运行：其他任务全部结束后才开始",
  "graph.fan": "已创建 {{made}} / {{items}}",
  "graph.undoing": "失败后补偿，最后成功的最先补偿",
  "graph.undoneBy": "失败后由以下类型的任务补偿：{{type}}",
  "graph.findClose": "关闭查找",
};
