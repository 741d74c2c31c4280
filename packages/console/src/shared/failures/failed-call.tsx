import { Text } from "@chakra-ui/react";
import type { LogRow } from "@fairway/wire";
import { Link } from "react-router";
import { When } from "../../ui/display/when.tsx";
import { PanelRow } from "../../ui/display/panel.tsx";
import { logAddress } from "../usage/log-link.ts";
import { FailureText } from "./failure-text.tsx";
import { useTexts } from "./texts.ts";

/** A failed call in a panel: when, which model, why, and the link to its row of the log. */
export function FailedCall({ row }: { readonly row: LogRow }) {
  const t = useTexts();
  return (
    <PanelRow>
      <Text color="fg.muted" width="24" flex="none">
        <When at={row.created_at} />
      </Text>
      <Text fontFamily="mono" flex="1" minW="0" truncate>
        {row.model_name}
      </Text>
      {row.request_id !== "" && (
        <Link className="link" to={`${logAddress({ range: "30d", isErrors: true })}&request=${row.request_id}`}>
          {t("openCall")}
        </Link>
      )}
      <FailureText row={row} />
    </PanelRow>
  );
}
