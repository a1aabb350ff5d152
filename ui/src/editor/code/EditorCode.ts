// All of CodeMirror is one chunk, loaded with the first code that is shown. Its name is what the budget counts.

export { default as YamlText } from "../text/YamlText";
export { default as DiffText } from "./DiffText";
export { default as FieldEditor } from "./FieldEditor";
