import type { LogRow, Token } from "@fairway/wire";
import { Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "react-router";
import { Mark } from "../../ui/display/mark.tsx";
import { firstCallQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Waits for a call with this key from the user's own program, and says that it came. */
export function FirstCall({ token, onArrived }: { readonly token: Token; onArrived?(row: LogRow): void }) {
  const t = useTexts();
  const { data: row } = useQuery(firstCallQuery(token));
  useEffect(() => {
    if (row) onArrived?.(row);
  }, [row, onArrived]);
  return (
    <Flex role="status" align="center" gap="3" wrap="wrap">
      {row ? (
        <>
          <Mark kind="go" label={t("sawCall", { model: row.model_name })} />
          <Link className="link" to={`/log?request=${encodeURIComponent(row.request_id)}`}>
            {t("openCall")}
          </Link>
        </>
      ) : (
        <Mark kind="underway" label={t("awaitingCall")} />
      )}
    </Flex>
  );
}
