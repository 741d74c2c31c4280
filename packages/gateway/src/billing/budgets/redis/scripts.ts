import { script } from "../../../redis/script.ts";

/**
 * The scripts of live budgets. Their keys are `state` and `holds` (hashes), `leases` (a sorted set) and `epoch`.
 *
 * `state` has two fields for each budget: its id with `epoch revision window used held`, as the database said in that
 * epoch, and its id with `h`, the sum of the requests that are open in it. `holds` has a field for each request that is
 * open, or charged but not booked yet: `amount:user:id,id`, reserved in each of these budgets.
 */

const COMMON = `
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local function parsed(record)
  if not record then return nil end
  local amount, user, ids = string.match(record, '^(%d+):(%d+):(.*)$')
  local of = {}
  for id in string.gmatch(ids, '%d+') do of[id] = true end
  return { amount = tonumber(amount), user = user, of = of }
end
local deltas = {}
local function change(id, amount) deltas[id] = (deltas[id] or 0) + amount end
local function drop(record) for id in pairs(record.of) do change(id, -record.amount) end end
local function writeHeld(state)
  for id, amount in pairs(deltas) do
    if amount ~= 0 then redis.call('HINCRBY', state, id .. 'h', whole(amount)) end
  end
end
local function recordsOf(holds, ids)
  local records = {}
  if #ids == 0 then return records end
  for at, record in ipairs(redis.call('HMGET', holds, unpack(ids))) do records[ids[at]] = parsed(record) end
  return records
end
local records, written = {}, {}
local function put(id, record)
  records[id] = record
  written[id] = record or false
end
local function writeRecords(holds, leases, ends)
  local texts, scores, gone = {}, {}, {}
  for id, record in pairs(written) do
    if record then
      local ids = {}
      for budget in pairs(record.of) do table.insert(ids, budget) end
      table.insert(texts, id)
      table.insert(texts, whole(record.amount) .. ':' .. record.user .. ':' .. table.concat(ids, ','))
      table.insert(scores, ends) table.insert(scores, id)
    else table.insert(gone, id) end
  end
  if #texts > 0 then
    redis.call('HSET', holds, unpack(texts))
    redis.call('ZADD', leases, unpack(scores))
  end
  if #gone > 0 then
    redis.call('HDEL', holds, unpack(gone))
    redis.call('ZREM', leases, unpack(gone))
  end
end`;

/**
 * Reserves, in order. KEYS epoch state holds leases; ARGV now lease, then for each: request user amount wished isHeld
 * count, and `count` times: budget limit isHard window. Returns for each: {0, granted}, {1, budget that is short}, {2}
 * the request has ended, {3, epoch} budgets are not read, {4} closed.
 */
export const PLACE = script(`${COMMON}
local epoch = redis.call('GET', KEYS[1])
local items, ids, fields, at = {}, {}, {}, 3
while at <= #ARGV do
  local item = { id = ARGV[at], user = ARGV[at + 1], amount = tonumber(ARGV[at + 2]), wished = tonumber(ARGV[at + 3]) or 0 }
  item.isHeld, item.budgets = ARGV[at + 4] == '1', {}
  for n = 0, tonumber(ARGV[at + 5]) - 1 do
    local from = at + 6 + 4 * n
    local budget = { id = ARGV[from], limit = tonumber(ARGV[from + 1]), isHard = ARGV[from + 2] == '1' }
    budget.window = tonumber(ARGV[from + 3])
    table.insert(item.budgets, budget)
    fields[budget.id] = true
  end
  at = at + 6 + 4 * #item.budgets
  table.insert(items, item)
  table.insert(ids, item.id)
end
local names = {}
for id in pairs(fields) do table.insert(names, id) table.insert(names, id .. 'h') end
local known = {}
if #names > 0 then
  local values = redis.call('HMGET', KEYS[2], unpack(names))
  for n = 1, #names, 2 do
    local of, window, used, held = string.match(values[n] or '', '^(%d+) %d+ (%d+) (%d+) (%d+)$')
    local state = { open = tonumber(values[n + 1] or '0') }
    if of == epoch then state.window, state.used, state.held = tonumber(window), tonumber(used), tonumber(held) end
    known[names[n]] = state
  end
end
records = recordsOf(KEYS[3], ids)
local function shortOf(item, before, amount)
  for _, budget in ipairs(item.budgets) do
    local state = known[budget.id]
    local more = amount - (before and before.of[budget.id] and before.amount or 0)
    local used = budget.window > state.window and 0 or state.used
    local free = budget.limit - used - state.held - state.open - (deltas[budget.id] or 0)
    if budget.isHard and more > 0 and free < more then return budget.id end
  end
end
local answers = {}
for _, item in ipairs(items) do
  local before, isRead, answer = records[item.id], true, nil
  for _, budget in ipairs(item.budgets) do isRead = isRead and known[budget.id].used ~= nil end
  if not epoch then answer = {4}
  elseif item.isHeld and not before then answer = {2}
  elseif not isRead then answer = {3, epoch}
  else
    local granted = item.wished
    while granted > item.amount and shortOf(item, before, granted) do granted = math.floor(granted / 4) end
    granted = math.max(granted, item.amount)
    local short = shortOf(item, before, granted)
    if short then answer = {1, tonumber(short)}
    else
      if before then drop(before) end
      local of = {}
      for _, budget in ipairs(item.budgets) do
        of[budget.id] = true
        change(budget.id, granted)
      end
      put(item.id, #item.budgets > 0 and { amount = granted, user = item.user, of = of } or nil)
      answer = {0, granted}
    end
  end
  table.insert(answers, answer)
end
if next(written) == nil then return answers end
writeHeld(KEYS[2])
writeRecords(KEYS[3], KEYS[4], whole(clock(ARGV[1]) + ARGV[2]))
return answers`);

/**
 * Puts an amount in each of some budgets, without a check of their limits. KEYS state holds leases; ARGV now lease isOpen,
 * then for each: request user amount count and its budgets. With isOpen 1 only for requests that are open, otherwise only
 * for those that are not, or with less.
 */
export const PUT = script(`${COMMON}
local items, ids, at = {}, {}, 4
while at <= #ARGV do
  local item = { id = ARGV[at], user = ARGV[at + 1], amount = tonumber(ARGV[at + 2]), of = {} }
  for n = 1, tonumber(ARGV[at + 3]) do item.of[ARGV[at + 3 + n]] = true end
  at = at + 4 + tonumber(ARGV[at + 3])
  table.insert(items, item)
  table.insert(ids, item.id)
end
records = recordsOf(KEYS[2], ids)
local answers = {}
for _, item in ipairs(items) do
  local before = records[item.id]
  local isWanted = before ~= nil
  if ARGV[3] == '0' then isWanted = not before or before.amount < item.amount end
  if isWanted then
    if before then drop(before) end
    for id in pairs(item.of) do change(id, item.amount) end
    put(item.id, item.amount > 0 and next(item.of) and item or nil)
  end
  table.insert(answers, 1)
end
if next(written) == nil then return answers end
writeHeld(KEYS[1])
writeRecords(KEYS[2], KEYS[3], whole(clock(ARGV[1]) + ARGV[2]))
return answers`);

/**
 * Writes states of the database and removes requests that they contain. KEYS epoch state holds leases; ARGV epoch in
 * which the states were read, their count, and for each: budget revision window used held; then the requests. A state
 * of another epoch, or older than the known one, is not written. Returns the number of removed requests.
 */
export const FOLLOW = script(`${COMMON}
local epoch, count = redis.call('GET', KEYS[1]), tonumber(ARGV[2])
local ids, states = {}, {}
for at = 3 + 5 * count, #ARGV do table.insert(ids, ARGV[at]) end
records = recordsOf(KEYS[3], ids)
if epoch == ARGV[1] and count > 0 then
  local names = {}
  for at = 3, 2 + 5 * count, 5 do table.insert(names, ARGV[at]) end
  local known = redis.call('HMGET', KEYS[2], unpack(names))
  for n = 1, count do
    local of, revision = string.match(known[n] or '', '^(%d+) (%d+) ')
    local at = 5 * n - 2
    if of ~= epoch or tonumber(revision) <= tonumber(ARGV[at + 1]) then
      table.insert(states, ARGV[at])
      table.insert(states, table.concat({ epoch, unpack(ARGV, at + 1, at + 4) }, ' '))
    end
  end
end
local removed = 0
for _, id in ipairs(ids) do
  local record = records[id]
  if record then
    drop(record)
    put(id, nil)
    removed = removed + 1
  end
end
if #states > 0 then redis.call('HSET', KEYS[2], unpack(states)) end
writeHeld(KEYS[2])
writeRecords(KEYS[3], KEYS[4], '0')
return removed`);

/** KEYS holds leases; ARGV now limit. Returns id and record of requests that are open for long. */
export const LONG_OPEN = script(`${COMMON}
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', clock(ARGV[1]), 'LIMIT', 0, ARGV[2])) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then table.insert(found, id) table.insert(found, record)
  else redis.call('ZREM', KEYS[2], id) end
end
return found`);

/** KEYS state. Returns pairs of each budget in which something was open, and the sum of what is. */
export const OPEN_SUMS = script(`
local fields, sums = redis.call('HGETALL', KEYS[1]), {}
for at = 1, #fields, 2 do
  local id = string.match(fields[at], '^(%d+)h$')
  if id then table.insert(sums, { id, fields[at + 1] }) end
end
return sums`);

/** First number of a result of `PLACE`. */
export const PLACED = { granted: 0, short: 1, ended: 2, unread: 3, closed: 4 } as const;
