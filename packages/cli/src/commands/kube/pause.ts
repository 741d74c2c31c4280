import { optionList, optionUpdate } from "@fairway/wire";
import { openCluster, type KubeOptions } from "./cluster.ts";
import { replicasIn } from "./installation.ts";
import { printDone, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";

const OPTION = "KubernetesPaused";

/** Stores the pause as a gateway option, which outlives its pods and appears in the audit log. */
export async function setPaused(
  isPaused: boolean,
  options: KubeOptions,
  session: Session,
  output: Output,
): Promise<void> {
  await replicasIn(await openCluster(options), session);
  const { client } = session;
  const { data } = await client.call(optionList, {});
  const isSame = (data.find(({ key }) => key === OPTION)?.value === "true") === isPaused;
  if (!isSame) await client.call(optionUpdate, { body: { key: OPTION, value: String(isPaused) } });
  const already = isSame ? " already" : "";
  const sentence = isPaused
    ? `Resources are${already} left alone, also those that come later. \`fairway kube gitops resume\` follows them again.`
    : `Resources are${already} followed.`;
  await printDone(output, { paused: isPaused }, sentence);
}
