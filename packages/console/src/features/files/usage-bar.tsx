import { Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Meter } from "../../ui/display/meter.tsx";
import { usageQuery } from "./api.ts";
import { formatSize } from "./size.ts";
import { useTexts } from "./texts.ts";

/** From this share on, the bar warns. */
const HIGH = 0.8;

/** How much of what the signed-in user may store is used. */
export function UsageBar() {
  const t = useTexts();
  const language = useLanguage();
  const { data } = useQuery(usageQuery);
  if (!data) return null;
  const { bytes, max_bytes: maxBytes, files, max_files: maxFiles } = data;
  if (maxBytes === 0 || maxFiles === 0) {
    return (
      <Text textStyle="sm" color="fg.muted" mb="3">
        {t("switchedOff")}
      </Text>
    );
  }
  const used = Math.max(bytes / maxBytes, files / maxFiles);
  const text = t("usage", {
    bytes: formatSize(bytes, language),
    maxBytes: formatSize(maxBytes, language),
    files: formatCount(files, language),
    maxFiles: formatCount(maxFiles, language),
  });
  return (
    <Flex className="files-usage" direction="column" gap="1" mb="3" maxW="420px">
      <Text textStyle="sm" color="fg.muted">
        {text}
      </Text>
      <Meter used={used} isHigh={used >= HIGH} label={text} />
    </Flex>
  );
}
