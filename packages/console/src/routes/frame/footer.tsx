import { Box } from "@chakra-ui/react";
import { lazy, Suspense } from "react";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "../../shared/texts.ts";

const OwnFooter = lazy(async () => ({ default: (await import("./own-footer.tsx")).OwnFooter }));

/** The end of the content: what the operator wrote for it, or the credit line. */
export function Footer() {
  const t = useTexts();
  const text = useStatus().footer_html.trim();
  return (
    <Box as="footer" className="site-footer" textStyle="xs" color="fg.muted" px="6" py="4" textAlign="center">
      <Suspense>{text === "" ? t("credit") : <OwnFooter text={text} />}</Suspense>
    </Box>
  );
}
