export { DEFAULT_USAGE, WORDS } from "./behaviour.ts";
export type { Recorded } from "./recorded.ts";
export { NORMAL_TEXT, REFUSAL, SIGNATURE } from "./reply.ts";
export { startUpstream, type Script, type ScriptedAnswer, type Upstream } from "./server.ts";
