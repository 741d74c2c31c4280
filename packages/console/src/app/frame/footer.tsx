import { Box } from "@chakra-ui/react";
import { useTexts } from "../texts.ts";

/** The credit line at the end of the content. */
export function Footer() {
  const t = useTexts();
  return (
    <Box as="footer" textStyle="xs" color="fg.muted" px="6" py="4" textAlign="center">
      {t("credit")}
    </Box>
  );
}
