/** The checkout's folder. */
export const ROOT: string;
export function ensureInstalled(scope: "gateway" | "start" | "all"): Promise<void>;
export function startProgress(title: string, detail?: () => string): { end(isDone: boolean): void };
export function withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
export function handOver(script: string, args: readonly string[], env?: Readonly<Record<string, string>>): void;
