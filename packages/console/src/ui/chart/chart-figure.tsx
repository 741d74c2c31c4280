import { Box, Flex, Heading, Text } from "@chakra-ui/react";
import { useState, type ReactNode } from "react";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { ChartTable } from "./chart-table.tsx";
import { LineTrend, StackedBars } from "./charts.tsx";
import { findSinglePoint } from "./find-single-point.ts";
import { Key } from "./legend.tsx";
import { SinglePoint } from "./single-point.tsx";
import { useTexts } from "./texts.ts";
import type { ChartProps } from "./types.ts";

interface ChartFigureProps extends ChartProps {
  readonly title: string;
  readonly kind: "bars" | "lines";
  /** Shown next to the title, such as the number that the chart explains. */
  readonly aside?: ReactNode;
  /** Replaces an empty chart. */
  readonly empty: string;
}

/** A chart in a card: title, picture or table of its numbers, and legend. */
export function ChartFigure(props: ChartFigureProps) {
  const t = useTexts();
  const [isTable, setIsTable] = useState(false);
  const { title, kind, aside, empty, ...chart } = props;
  const isEmpty = chart.slots.every(({ values }) => chart.series.every(({ key }) => !values[key]));
  const single = isEmpty || isTable ? undefined : findSinglePoint(props);
  const Drawing = kind === "bars" ? StackedBars : LineTrend;
  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" p={{ base: "3", sm: "4" }} minW="0">
      <Flex align="center" gap="2" mb="2" minH="8">
        <Heading as="h2" textStyle="md" fontWeight="semibold">
          {title}
        </Heading>
        <Flex ms="auto" align="center" gap="2">
          {aside}
          {!isEmpty && (
            <IconButton
              size="xs"
              label={t("asTable", { title })}
              aria-pressed={isTable}
              onClick={() => setIsTable(!isTable)}
            >
              <Icon name={isTable ? "chart" : "rows"} />
            </IconButton>
          )}
        </Flex>
      </Flex>
      {isEmpty && (
        <Flex minH={`${chart.height ?? 160}px`} align="center" justify="center" px="4">
          <Text color="fg.muted" textAlign="center">
            {empty}
          </Text>
        </Flex>
      )}
      {single && <SinglePoint {...chart} slot={single} />}
      {!isEmpty &&
        !single &&
        (isTable ? <ChartTable {...chart} isStacked={kind === "bars"} /> : <Drawing {...chart} />)}
      {!isEmpty && !single && chart.series.length > 1 && <Key series={chart.series} />}
    </Box>
  );
}
