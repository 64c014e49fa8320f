"""Elastic links with revolute-prismatic joints: Korayem, Shafei, Dehkordi."""
