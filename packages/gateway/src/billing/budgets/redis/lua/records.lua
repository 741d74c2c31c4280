-- Reads and writes the records of several requests at once. `change` notes sums by set of budgets, `put` and `drop`
-- note records; `write` then writes all of them, so that `h` of each budget remains the sum of the records that name
-- it.
local function whole(number) return string.format('%.0f', number) end
local records, written = {}, {}
local function readRecords(holds, ids)
  if #ids == 0 then return end
  for at, text in ipairs(redis.call('HMGET', holds, unpack(ids))) do
    if text then
      local amount, user, of = string.match(text, '^(%d+):(%d+):(.*)$')
      records[ids[at]] = { amount = tonumber(amount), user = user, of = of }
    end
  end
end
local function put(id, amount, user, of)
  records[id] = { amount = amount, user = user, of = of }
  written[id] = whole(amount) .. ':' .. user .. ':' .. of
end
local function drop(id)
  records[id] = nil
  written[id] = false
end
local changes = {}
local function change(of, amount) changes[of] = (changes[of] or 0) + amount end
local function write(state, holds, leases, ends)
  local sums, texts, gone, scores = {}, {}, {}, {}
  for of, amount in pairs(changes) do
    for id in string.gmatch(of, '%d+') do sums[id] = (sums[id] or 0) + amount end
  end
  for id, amount in pairs(sums) do
    if amount ~= 0 then redis.call('HINCRBY', state, id .. 'h', whole(amount)) end
  end
  for id, text in pairs(written) do
    if text then
      table.insert(texts, id) table.insert(texts, text)
      if ends then table.insert(scores, ends) table.insert(scores, id) end
    else table.insert(gone, id) end
  end
  if #texts > 0 then redis.call('HSET', holds, unpack(texts)) end
  if #scores > 0 then redis.call('ZADD', leases, unpack(scores)) end
  if #gone > 0 then
    redis.call('HDEL', holds, unpack(gone))
    redis.call('ZREM', leases, unpack(gone))
  end
end
