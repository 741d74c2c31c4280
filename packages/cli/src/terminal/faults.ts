type Handler = (cause: unknown) => void;

const handlers: Handler[] = [];

/** Handles uncaught errors until the returned function is called; the last handler wins. */
export function handleFaults(handler: Handler): () => void {
  if (handlers.length === 0)
    for (const event of ["uncaughtException", "unhandledRejection"])
      process.on(event, (cause) => handlers.at(-1)?.(cause));
  handlers.push(handler);
  return () => void handlers.splice(handlers.indexOf(handler), 1);
}
