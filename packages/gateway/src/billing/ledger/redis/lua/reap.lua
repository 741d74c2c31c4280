-- Charges expired reservations; the answer for one that has not expired is 0. Arguments and answers: `close.lua`.
--
-- The lease is read in the same write, so a request that renewed it in the meantime continues.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local seenKey = KEYS[3]
local userKey = KEYS[4]
local tokenKey = KEYS[5]
local chargesKey = KEYS[6]
local epochKey = KEYS[7]
local accountName = ARGV[1]
local withToken = ARGV[2]
local nowGiven = ARGV[3]

-- include ../../../../redis/lua/clock.lua

local closedState = 'r'

local function refuse(id)
  local lease = redis.call('ZSCORE', leasesKey, id)
  if not lease or tonumber(lease) > clock(nowGiven) then return 0 end
end

-- include close.lua
