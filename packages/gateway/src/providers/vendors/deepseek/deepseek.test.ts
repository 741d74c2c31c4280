import { expect, it } from "vitest";
import { createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { deepseek } from "./deepseek.ts";

it.each(["", "https://api.deepseek.com/v1", "https://api.deepseek.com/beta"])(
  "DeepSeek's balance is that in the vendor's own currency, next to the base %j",
  async (baseUrl) => {
    const asked: string[] = [];
    const left = await deepseek.balance?.(
      createChannelRecord({ baseUrl }),
      "k",
      ({ url }) => {
        asked.push(url);
        const json = {
          balance_infos: [
            { currency: "USD", total_balance: "0.00" },
            { currency: "CNY", total_balance: "12.50" },
          ],
        };
        return Promise.resolve({ status: 200, json, text: "" });
      },
      0,
    );
    expect([left, asked]).toEqual([12.5, ["https://api.deepseek.com/user/balance"]]);
  },
);
