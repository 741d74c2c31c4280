import { Flex, Text } from "@chakra-ui/react";
import { Link } from "react-router";
import { useStatus } from "../../session/status.ts";

/** The logo and the name of this gateway. */
export function Brand(props: { readonly size?: number }) {
  const { system_name: name, logo } = useStatus();
  const size = props.size ?? 24;
  return (
    <Flex asChild align="center" gap="2" borderRadius="l2" minW="0">
      <Link to="/">
        <img src={logo || "/mark.svg"} alt="" width={size} height={size} />
        <Text
          as="span"
          fontWeight="semibold"
          textStyle={size > 30 ? "xl" : "lg"}
          overflow="hidden"
          textOverflow="ellipsis"
          whiteSpace="nowrap"
        >
          {name}
        </Text>
      </Link>
    </Flex>
  );
}
