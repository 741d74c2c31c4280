import { Box } from "@chakra-ui/react";
import { Suspense } from "react";
import { useStore } from "../../lib/store.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "../../shared/texts.ts";
import { placeholders } from "../../ui/feedback/placeholders.ts";
import { late } from "../../ui/late/late.tsx";

const OwnFooter = late(async () => (await import("./own-footer.tsx")).OwnFooter);

/**
 * The end of the content: the operator's text, or the credit line. It appears once its position is final, and not below
 * placeholders that may shrink.
 */
export function Footer() {
  const t = useTexts();
  const text = useStatus().footer_html.trim();
  const isPlaced = useStore(placeholders) === 0;
  return (
    <Box
      as="footer"
      className="site-footer"
      visibility={isPlaced ? "visible" : "hidden"}
      textStyle="xs"
      color="fg.muted"
      px="6"
      py="4"
      textAlign="center"
    >
      <Suspense>{text === "" ? t("credit") : <OwnFooter text={text} />}</Suspense>
    </Box>
  );
}
