// `node relay.ts FROM TO`: forwards connections. FROM and TO are the path of a socket or ADDRESS:PORT. A path works
// across network namespaces, which connects the loopback of the machine with that of the cluster.
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

type End = { readonly path: string } | { readonly host: string; readonly port: number };

function parseEnd(text: string): End {
  if (text.startsWith("/")) return { path: text };
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

const [from = "", to = ""] = process.argv.slice(2);
if (from.startsWith("/")) rmSync(from, { force: true });

const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
  const far = connect({ ...parseEnd(to), allowHalfOpen: true, noDelay: true });
  join(near, far);
  join(far, near);
});
server.listen({ ...parseEnd(from), backlog: 1_024 }, () => {
  const address = server.address();
  console.log(`ready ${typeof address === "object" && address ? address.port : from}`);
});

function join(source: Socket, target: Socket): void {
  source.pipe(target);
  source.on("error", () => target.destroy());
}
