import { compact, count, object, objects } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { chunked, fanOut, sumCounts, withBody } from "../../core/private/batched-embeddings.ts";
import type { Exchange } from "../../core/types.ts";

const REQUESTS_A_CALL = 100;

export const embedExchange: Exchange = async (call, context) => {
  const body = call.body && parseObject(call.body.toString("utf8"));
  const requests = objects(body, "requests");
  if (!body || requests.length <= REQUESTS_A_CALL) return context.send(call);
  return fanOut(
    chunked(requests, REQUESTS_A_CALL).map((part) => ({ ...body, requests: part })),
    (part) => context.send(withBody(call, part)),
    (answers) => {
      const tokens = sumCounts(answers.map((answer) => count(object(answer, "usageMetadata"), "promptTokenCount")));
      return compact({
        embeddings: answers.flatMap((answer) => [...objects(answer, "embeddings")]),
        usageMetadata: tokens === undefined ? undefined : { promptTokenCount: tokens },
      });
    },
  );
};
