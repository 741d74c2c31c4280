import { Box, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stored } from "../../lib/storage.ts";
import { Content } from "../../ui/content/content.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { noticeQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Shows the operator's announcement until it is closed; a closed text does not appear again. */
export function Announcement() {
  const t = useTexts();
  const text = useQuery(noticeQuery).data;
  const [closed, setClosed] = useState(() => stored.notice.read());
  if (!text || text === closed) return null;
  const close = () => {
    stored.notice.write(text);
    setClosed(text);
  };
  return (
    <Flex
      gap="3"
      align="flex-start"
      bg="bg.panel"
      borderWidth="1px"
      borderColor="fairway.focusRing"
      borderRadius="l3"
      ps="4"
      pe="2"
      py="2"
      mb="3"
    >
      <Box color="fairway.fg" flex="none" pt="1.5">
        <Icon name="info" />
      </Box>
      <Box as="section" aria-label={t("notice")} flex="1" minW="0" maxH="50dvh" overflowY="auto" tabIndex={0} py="1">
        <Content text={text} title={t("notice")} />
      </Box>
      <IconButton size="xs" label={t("closeNotice")} onClick={close}>
        <Icon name="close" size={14} />
      </IconButton>
    </Flex>
  );
}
