export { openai } from "./openai.ts";
export { custom } from "./custom.ts";
export { compatible } from "./compatible.ts";
