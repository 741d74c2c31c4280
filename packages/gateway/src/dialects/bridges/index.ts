import type { Bridge } from "../types.ts";
import { chatToAnthropic } from "./chat-to-anthropic/index.ts";

/** Every general conversion; those of private protocols come with their providers. */
export const bridges: readonly Bridge[] = [chatToAnthropic];
