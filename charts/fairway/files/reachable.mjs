// `helm test` runs this in a pod of the gateway's image: does the Service lead to a gateway that answers?
import { setTimeout } from "node:timers/promises";

const EVERY_MS = 2_000;
const [url = "", seconds = ""] = process.argv.slice(1);
const until = Date.now() + Number(seconds) * 1_000;

let problem = await findProblem(url);
while (problem !== "" && Date.now() + EVERY_MS < until) {
  await setTimeout(EVERY_MS);
  problem = await findProblem(url);
}
if (problem === "") console.log(`${url} leads to a gateway that answers`);
else {
  console.error(`${url} leads to no gateway: ${problem}`);
  process.exitCode = 1;
}

async function findProblem(base) {
  try {
    const response = await fetch(`${base}/api/status`, { signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
    return response.ok && JSON.parse(text).success === true ? "" : `status ${response.status}, ${text.slice(0, 200)}`;
  } catch (error) {
    return error.cause?.message || error.message;
  }
}
