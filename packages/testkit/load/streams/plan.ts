import type { ChildProcess } from "node:child_process";
import type { ClientProtocol } from "../requests.ts";

export interface StreamPlan {
  /** How often each load is run; the clients take turns. */
  readonly rounds: number;
  readonly seconds: number;
  readonly longChunks: number;
  /** Parallel long streams. */
  readonly longStreams: number;
}

export interface StreamBench {
  readonly plan: StreamPlan;
  /** The fake upstream: where it listens, and its process. */
  readonly upstream: { readonly url: string; readonly child: ChildProcess };
  readonly generator: ChildProcess;
  readonly bystanders: readonly ChildProcess[];
  readonly say: (line: string) => void;
}

export const CLIENTS: readonly { readonly client: ClientProtocol; readonly name: string }[] = [
  { client: "chat", name: "OpenAI chat, passed through" },
  { client: "messages", name: "Anthropic" },
  { client: "responses", name: "OpenAI Responses" },
  { client: "gemini", name: "Gemini" },
];
/** Returns models for long streams at full speed, and with rests in which all of them pause. */
export function longModels({ longChunks, longStreams }: StreamPlan): {
  readonly fast: string;
  readonly resting: string;
} {
  return { fast: `bench-${longChunks}-0`, resting: `bench-${longChunks}-0-resting${longStreams}` };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
