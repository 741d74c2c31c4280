import { Box, Flex } from "@chakra-ui/react";
import { useState, type ReactNode } from "react";
import { stored } from "../../lib/storage.ts";
import { Icon, type IconName } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";

interface NoticeBarProps {
  readonly icon: IconName;
  readonly hue: "fairway" | "cardinal";
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  /**
   * Set on notices that may be closed permanently: the name under which this browser remembers it, and the button's
   * label.
   */
  readonly dismiss?: { readonly id: string; readonly label: string };
}

/** A permanent notice at the top of a page. */
export function NoticeBar(props: NoticeBarProps) {
  const id = props.dismiss?.id;
  const [isClosed, setClosed] = useState(() => id !== undefined && (stored.dismissed.read() ?? []).includes(id));
  if (isClosed) return null;
  const close = () => {
    setClosed(true);
    if (id !== undefined) stored.dismissed.write([...(stored.dismissed.read() ?? []), id]);
  };
  return (
    <Flex
      align="center"
      gap="3"
      bg={`${props.hue}.subtle`}
      color={`${props.hue}.fg`}
      borderRadius="l3"
      ps="4"
      pe="2"
      py="1.5"
      mb="3"
      textStyle="sm"
      minH="10"
    >
      <Box flex="none">
        <Icon name={props.icon} />
      </Box>
      <Box flex="1">{props.children}</Box>
      {props.actions}
      {props.dismiss && (
        <IconButton size="xs" label={props.dismiss.label} onClick={close} color="inherit">
          <Icon name="close" size={14} />
        </IconButton>
      )}
    </Flex>
  );
}
