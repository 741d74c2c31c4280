import { Box, Flex, Heading, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { Money } from "../../ui/display/money.tsx";
import { When } from "../../ui/display/when.tsx";
import { recentQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

/** The caller's newest requests. */
export function Recent() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(recentQuery);
  const rows = data?.items;
  if (error && !rows) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!rows) return <Box aria-busy="true" />;
  return (
    <Box bg="bg.panel" borderWidth="1px" borderRadius="l3">
      <Flex align="center" px="5" py="3" borderBottomWidth="1px">
        <Heading as="h2" textStyle="lg" fontWeight="semibold" flex="1">
          {t("recent")}
        </Heading>
        <Link className="link" to="/log">
          {t("openLog")}
        </Link>
      </Flex>
      {rows.length === 0 ? (
        <Text color="fg.muted" px="5" py="6">
          {t("recentEmpty")}
        </Text>
      ) : (
        <Box as="ul" listStyleType="none">
          {rows.map((row) => (
            <Flex
              as="li"
              key={row.id}
              gap="4"
              px="5"
              py="2.5"
              borderTopWidth={row === rows[0] ? "0" : "1px"}
              borderColor="border.muted"
              textStyle="sm"
            >
              <Text color="fg.muted" width="28" flex="none">
                <When at={row.created_at} />
              </Text>
              <Text fontFamily="mono" flex="1" minW="0" truncate>
                {row.model_name}
              </Text>
              <Text fontWeight="medium">
                <Money quota={row.quota} isPrecise />
              </Text>
            </Flex>
          ))}
        </Box>
      )}
    </Box>
  );
}
